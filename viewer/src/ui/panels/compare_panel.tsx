import { useMemo } from "preact/hooks";
import { compareCaptures, type Difference } from "../../model/compare";
import { countText, durationText } from "../../model/time";
import { FileButton } from "../file_button";
import { useSession, useSessionState } from "../hooks";
import { VirtualTable } from "../virtual_table";

export function ComparePanel() {
    const session = useSession();
    const { model, other, otherName, otherSentence } = useSessionState();
    const result = useMemo(() => (model === null || other === null ? null : compareCaptures(other, model)), [model, other]);
    return (
        <div class="compare">
            <div class="compare-head">
                <FileButton label="Compare with…" name="compare" onFile={(file) => session.compareWith(file)} />
                <span class="note">
                    {otherSentence !== ""
                        ? otherSentence
                        : other === null
                          ? "Choose an earlier capture of the same program: what became slower, what faster?"
                          : `before: ${otherName}, ${countText(other.frames.count)} frames · after: this capture`}
                </span>
                {result?.frames.map((row) => (
                    <span class="frame-change">
                        {row.name} {durationText(row.before)} → <b>{durationText(row.after)}</b> <Change row={row} />
                    </span>
                ))}
            </div>
            {result !== null && (
                <VirtualTable
                    name="compare-table"
                    columns={[
                        { title: "type", width: "minmax(180px, 2fr)" },
                        { title: "count before", width: "100px", right: true },
                        { title: "after", width: "80px", right: true },
                        { title: "time per frame before", width: "160px", right: true },
                        { title: "after", width: "90px", right: true },
                        { title: "difference", width: "100px", right: true },
                        { title: "", width: "80px", right: true },
                    ]}
                    count={result.types.length}
                    keyOf={(row) => result.types[row]!.name}
                    cells={(at) => {
                        const row = result.types[at]!;
                        const by = (row.after || 0) - (row.before || 0);
                        return [
                            row.name,
                            countText(row.beforeCount),
                            countText(row.afterCount),
                            durationText(row.before),
                            durationText(row.after),
                            `${by > 0 ? "+" : ""}${durationText(by)}`,
                            <Change row={row} />,
                        ];
                    }}
                />
            )}
        </div>
    );
}

function Change({ row }: { row: Difference }) {
    if (Number.isNaN(row.before)) return <span class="worse">new</span>;
    if (Number.isNaN(row.after)) return <span class="better">gone</span>;
    const share = (row.after / Math.max(row.before, 1) - 1) * 100;
    const kind = share > 2 ? "worse" : share < -2 ? "better" : "faint";
    return <span class={kind}>{`${share > 0 ? "+" : share < 0 ? "−" : ""}${Math.abs(share).toFixed(1)} %`}</span>;
}
