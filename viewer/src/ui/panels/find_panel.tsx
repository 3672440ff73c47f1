import { spanName } from "../../model/model";
import { idText } from "../../model/task_ids";
import { countText, durationText, momentText } from "../../model/time";
import { frameAt } from "../../model/frame_tasks";
import { useSession, useSessionState } from "../hooks";
import { Swatch } from "../swatch";
import { VirtualTable } from "../virtual_table";

export function FindPanel() {
    const session = useSession();
    const { model, found, span, query } = useSessionState();
    if (model === null) return null;
    if (found === null) {
        return <p class="note">Press / and type a part of a name, #id of a task, or a bound such as &gt;1.5ms or &lt;20us.</p>;
    }
    const { spans, tasks } = model;
    return (
        <VirtualTable
            name="found"
            columns={[
                { title: found.total > found.spans.length ? `first ${countText(found.spans.length)} of ${countText(found.total)}` : `${countText(found.total)} found`, width: "minmax(200px, 2fr)" },
                { title: "at", width: "120px", right: true },
                { title: "length", width: "90px", right: true },
                { title: "own", width: "90px", right: true },
                { title: "frame", width: "80px", right: true },
                { title: "lane", width: "minmax(100px, 1fr)" },
                { title: "id", width: "minmax(110px, 1fr)" },
            ]}
            count={found.spans.length}
            empty={`Nothing is called '${query}'.`}
            keyOf={(row) => found.spans[row]!}
            isChosen={(row) => found.spans[row] === span}
            onClick={(row) => {
                const chosen = found.spans[row]!;
                session.set({ frame: frameAt(model, spans.begin[chosen]!) });
                session.selectSpan(chosen, true);
            }}
            cells={(row) => {
                const s = found.spans[row]!;
                return [
                    <span class="node">
                        <Swatch type={spans.type[s]!} />
                        {spanName(model, s)}
                    </span>,
                    momentText(spans.begin[s]!, 1000),
                    durationText(spans.end[s]! - spans.begin[s]!),
                    durationText(spans.own[s]!),
                    countText(model.frames.number[frameAt(model, spans.begin[s]!)]!),
                    model.lanes[spans.lane[s]!]!.name,
                    <span class="faint">{spans.task[s]! >= 0 ? idText(tasks.ids, spans.task[s]!) : ""}</span>,
                ];
            }}
        />
    );
}
