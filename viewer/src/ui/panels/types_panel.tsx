import { useMemo } from "preact/hooks";
import { typeName } from "../../model/model";
import { histogram, typeStatistics, type TypeStatistics } from "../../model/statistics";
import { countText, durationText } from "../../model/time";
import { useSession, useSessionState } from "../hooks";
import { Swatch } from "../swatch";
import { VirtualTable } from "../virtual_table";

export function TypesPanel() {
    const session = useSession();
    const { model, type } = useSessionState();
    const rows = useMemo(() => (model === null ? [] : typeStatistics(model)), [model]);
    if (model === null) return null;
    const all = rows.reduce((sum, row) => sum + row.total, 0);
    const shown = rows.find((row) => row.type === type) ?? rows[0];
    return (
        <div class="types">
            <VirtualTable
                name="type-table"
                columns={[
                    { title: "type", width: "minmax(150px, 2fr)" },
                    { title: "count", width: "76px", right: true },
                    { title: "sum", width: "80px", right: true },
                    { title: "", width: "minmax(60px, 1fr)" },
                    { title: "median", width: "76px", right: true },
                    { title: "95 %", width: "76px", right: true },
                    { title: "longest", width: "76px", right: true },
                    { title: "source", width: "minmax(120px, 1.6fr)" },
                ]}
                count={rows.length}
                empty="No task ran."
                keyOf={(row) => rows[row]!.type}
                isChosen={(row) => rows[row]!.type === type}
                onClick={(row) => session.chooseType(rows[row]!.type)}
                cells={(at) => {
                    const row = rows[at]!;
                    const about = model.types[row.type]!;
                    return [
                        <span class="node">
                            <Swatch type={row.type} />
                            {typeName(model, row.type)}
                        </span>,
                        countText(row.count),
                        durationText(row.total),
                        <span class="bar">
                            <i class="own" style={{ width: `${(100 * row.total) / Math.max(all, 1)}%` }} />
                        </span>,
                        durationText(row.median),
                        durationText(row.p95),
                        durationText(row.most),
                        <span class="faint">{about.file === "" ? "" : `${about.file}:${about.line}`}</span>,
                    ];
                }}
            />
            {shown !== undefined && <HistogramView name={typeName(model, shown.type)} row={shown} />}
        </div>
    );
}

const bins = 36;

function HistogramView({ name, row }: { name: string; row: TypeStatistics }) {
    const { bounds, counts } = useMemo(() => histogram(row.sorted, bins), [row]);
    const most = Math.max(...counts, 1);
    const low = bounds[0]!;
    const high = bounds[bounds.length - 1]!;
    const x = (time: number): number => (100 * Math.log(Math.max(time, low) / low)) / Math.log(high / low);
    return (
        <figure class="histogram">
            <figcaption>
                <b>{name}</b> own time of {countText(row.count)} tasks
            </figcaption>
            <div class="histogram-bars">
                {counts.map((count, i) => (
                    <i
                        style={{ height: `${count === 0 ? 0 : Math.max(2, (100 * count) / most)}%` }}
                        title={`${durationText(bounds[i]!)} – ${durationText(bounds[i + 1]!)}: ${countText(count)}`}
                    />
                ))}
                <s style={{ left: `${x(row.median)}%` }} title={`median ${durationText(row.median)}`} />
                <s class="late" style={{ left: `${x(row.p95)}%` }} title={`95 of 100 ${durationText(row.p95)}`} />
            </div>
            <div class="histogram-axis">
                <span>{durationText(low)}</span>
                <span>logarithmic; lines: median, 95 %</span>
                <span>{durationText(high)}</span>
            </div>
        </figure>
    );
}
