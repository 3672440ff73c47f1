import { useEffect, useMemo } from "preact/hooks";
import { frameAnalysis } from "../../model/analysis";
import { buildFrameTree, flattenTree, nodesAbove } from "../../model/frame_tree";
import { tasksOfFrame } from "../../model/frame_tasks";
import { countText, durationText } from "../../model/time";
import { useSession, useSessionState } from "../hooks";
import { Swatch } from "../swatch";
import { VirtualTable } from "../virtual_table";

/** Until somebody toggles it: the first level is open, unless it is many of one type. */
function isOpenAtFirst(key: string, level: number): boolean {
    return level === 0 && !key.includes("/");
}

export function TreePanel() {
    const session = useSession();
    const { model, frame, toggled, span, analysis } = useSessionState();
    const roots = useMemo(() => (model === null ? [] : buildFrameTree(model, tasksOfFrame(model, frame))), [model, frame]);
    const rows = useMemo(
        () => flattenTree(roots, (key, level) => isOpenAtFirst(key, level) !== toggled.has(key)),
        [roots, toggled],
    );
    const chosenTask = model === null || span < 0 ? -1 : model.spans.task[span]!;
    useEffect(() => {
        if (model === null || chosenTask < 0) return;
        // What was selected elsewhere is shown here as well.
        nodesAbove(roots, (task) => model.tasks.parent[task]!, chosenTask).forEach((key, level) => {
            if (isOpenAtFirst(key, level) === session.state.toggled.has(key)) session.toggleNode(key);
        });
    }, [session, model, roots, chosenTask]);
    if (model === null) return null;
    const all = roots.reduce((sum, node) => sum + node.total, 0);
    const slack = frameAnalysis(analysis, model.frames, frame)?.slack;
    return (
        <VirtualTable
            name="tree"
            columns={[
                { title: "task", width: "minmax(260px, 3fr)" },
                { title: "count", width: "70px", right: true },
                { title: "total", width: "86px", right: true, hint: "own time, and that of everything below" },
                { title: "", width: "minmax(80px, 1.4fr)" },
                { title: "own", width: "86px", right: true, hint: "without waits, what ran on top of them, and times off the core" },
                { title: "ready → start", width: "104px", right: true, hint: "how long it waited for a thread" },
                { title: "slack", width: "86px", right: true, hint: "how much longer it could have taken without harm" },
                { title: "lane", width: "minmax(90px, 1fr)" },
            ]}
            count={rows.length}
            empty="No task began in this frame."
            keyOf={(row) => rows[row]!.node.key}
            isChosen={(row) => chosenTask >= 0 && rows[row]!.node.task === chosenTask}
            bring={chosenTask < 0 ? -1 : rows.findIndex((row) => row.node.task === chosenTask)}
            onClick={(row) => {
                const { node, hasChildren } = rows[row]!;
                if (node.task >= 0) session.selectTask(node.task);
                else if (hasChildren) session.toggleNode(node.key);
            }}
            cells={(at) => {
                const { node, level, hasChildren, isOpen } = rows[at]!;
                const { tasks, lanes, spans } = model;
                const s = node.task < 0 ? -1 : tasks.span[node.task]!;
                const queued = node.task < 0 ? NaN : tasks.started[node.task]! - tasks.ready[node.task]!;
                const spare = node.task < 0 ? undefined : slack?.get(node.task);
                return [
                    <span class="node" style={{ paddingLeft: `${level * 16}px` }}>
                        <button
                            class="twist"
                            aria-expanded={isOpen}
                            aria-label={isOpen ? "collapse" : "expand"}
                            style={{ visibility: hasChildren ? "visible" : "hidden" }}
                            onClick={(event) => {
                                event.stopPropagation();
                                session.toggleNode(node.key);
                            }}
                        >
                            {isOpen ? "▾" : "▸"}
                        </button>
                        <Swatch type={node.type} />
                        {node.name}
                        {node.outside && <em> began before the frame</em>}
                    </span>,
                    node.count > 1 ? `× ${countText(node.count)}` : "",
                    durationText(node.total),
                    <span class="bar">
                        <i style={{ width: `${(100 * node.total) / Math.max(all, 1)}%` }} />
                        <i class="own" style={{ width: `${(100 * node.own) / Math.max(all, 1)}%` }} />
                    </span>,
                    durationText(node.own),
                    Number.isNaN(queued) ? "" : durationText(queued),
                    spare === undefined ? "" : durationText(spare),
                    s < 0 ? "" : lanes[spans.lane[s]!]!.name,
                ];
            }}
        />
    );
}
