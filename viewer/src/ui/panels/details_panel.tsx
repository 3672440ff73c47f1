import type { ComponentChildren } from "preact";
import { frameAnalysis, type FrameAnalysis } from "../../model/analysis";
import { tasksOfFrame } from "../../model/frame_tasks";
import { listOf } from "../../model/lists";
import { SpanFlag, SpanKind, spanName, switchesText, taskName, type Model } from "../../model/model";
import { idText } from "../../model/task_ids";
import { countText, durationText, momentText } from "../../model/time";
import { EndFlag, noCore, SpawnFlag } from "../../parse/kinds";
import { arrowsOf } from "../../view/arrows";
import { useSession, useSessionState } from "../hooks";
import { Swatch } from "../swatch";

export function DetailsPanel() {
    const { model, span, frame, analysis } = useSessionState();
    if (model === null) return null;
    const ofFrame = frameAnalysis(analysis, model.frames, frame);
    return (
        <div class="details">
            {span < 0 ? <FrameFacts model={model} frame={frame} /> : <SpanFacts model={model} span={span} analysis={ofFrame} />}
            {span >= 0 && model.spans.task[span]! >= 0 ? (
                <Neighbours model={model} task={model.spans.task[span]!} />
            ) : (
                <CriticalPath model={model} analysis={ofFrame} />
            )}
        </div>
    );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
    return (
        <>
            <dt>{name}</dt>
            <dd>{children}</dd>
        </>
    );
}

function TaskLink({ model, task }: { model: Model; task: number }) {
    const session = useSession();
    if (task < 0) return <>outside of tasks</>;
    return (
        <button class="link" disabled={model.tasks.span[task]! < 0} onClick={() => session.selectTask(task)}>
            <Swatch type={model.tasks.type[task]!} />
            {taskName(model, task)}
        </button>
    );
}

function FrameFacts({ model, frame }: { model: Model; frame: number }) {
    const { frames, tasks } = model;
    const inside = tasksOfFrame(model, frame);
    const length = frames.end[frame]! - frames.begin[frame]!;
    let own = 0;
    for (const task of inside) own += tasks.own[task]!;
    return (
        <section>
            <h3>{frames.marked ? `Frame ${countText(frames.number[frame]!)}` : "The whole capture"}</h3>
            <dl>
                <Fact name="length">{durationText(length)}</Fact>
                <Fact name="tasks">{countText(inside.length)}</Fact>
                <Fact name="work in them">{durationText(own)}</Fact>
                <Fact name="work / length">{length > 0 ? (own / length).toFixed(2) : "–"}</Fact>
                <Fact name="begins at">{momentText(frames.begin[frame]!, 1000)}</Fact>
                <Fact name="thread switches">{switchesText(model)}</Fact>
            </dl>
            <p class="note">Click a task in the timeline to see what it waited for.</p>
        </section>
    );
}

const priorities = ["low", "normal", "high", "high"];

function SpanFacts({ model, span, analysis }: { model: Model; span: number; analysis: FrameAnalysis | null }) {
    const { spans, tasks } = model;
    const task = spans.task[span]!;
    const type = model.types[spans.type[span]!]!;
    const flags = spans.flags[span]!;
    const isBody = spans.kind[span]! <= SpanKind.scope;
    const slack = task < 0 ? undefined : analysis?.slack.get(task);
    const onPath = task >= 0 && analysis !== null && analysis.path.some((step) => step.task === task);
    const states = [
        flags & SpanFlag.failed ? "failed" : "",
        flags & SpanFlag.switched ? "switched off its core meanwhile" : "",
        flags & SpanFlag.cut ? "its begin or end is not in the capture" : "",
        task >= 0 && tasks.endFlags[task]! & EndFlag.failed && !(flags & SpanFlag.failed) ? "its task failed" : "",
        onPath ? "on the critical path" : "",
    ].filter((state) => state !== "");
    return (
        <section>
            <h3>
                {isBody && <Swatch type={spans.type[span]!} />}
                {spanName(model, span)}
                {task >= 0 && <small> #{idText(tasks.ids, task)}</small>}
            </h3>
            <dl>
                {states.length > 0 && <Fact name="state">{states.join(", ")}</Fact>}
                <Fact name="length">{durationText(spans.end[span]! - spans.begin[span]!)}</Fact>
                {isBody && <Fact name="own time">{durationText(spans.own[span]!)}</Fact>}
                {spans.kind[span] === SpanKind.task && tasks.own[task]! > spans.own[span]! && (
                    <Fact name="with its parts">{durationText(tasks.own[task]!)}</Fact>
                )}
                <Fact name="begins at">{momentText(spans.begin[span]!, 100)}</Fact>
                <Fact name="on">
                    {model.lanes[spans.lane[span]!]!.name}
                    {spans.core[span] !== noCore && `, core ${spans.core[span]}`}
                </Fact>
                {type.file !== "" && (
                    <Fact name="source">
                        <code>
                            {type.file}:{type.line}
                        </code>
                    </Fact>
                )}
                {spans.kind[span] === SpanKind.wait && (
                    <Fact name="waits for">{spans.other[span]! < 0 ? "something that is no task" : <TaskLink model={model} task={spans.other[span]!} />}</Fact>
                )}
                {task >= 0 && (
                    <>
                        <Fact name="spawned → ready">{durationText(tasks.ready[task]! - tasks.spawned[task]!)}</Fact>
                        <Fact name="ready → started">{durationText(tasks.started[task]! - tasks.ready[task]!)}</Fact>
                        <Fact name="ended → complete">{durationText(tasks.completed[task]! - tasks.ended[task]!)}</Fact>
                        <Fact name="priority">
                            {tasks.spawnFlags[task]! & SpawnFlag.background ? "background" : priorities[tasks.spawnFlags[task]! & SpawnFlag.priority]}
                            {tasks.spawnFlags[task]! & SpawnFlag.restricted ? ", certain threads only" : ""}
                        </Fact>
                        {slack !== undefined && <Fact name="slack">{durationText(slack)}</Fact>}
                    </>
                )}
            </dl>
        </section>
    );
}

const mostShown = 60;

function TaskList({ model, title, tasks, marked, markHint, timeOf }: { model: Model; title: string; tasks: number[]; marked(task: number): boolean; markHint: string; timeOf(task: number): number }) {
    return (
        <section class="neighbours">
            <h3>
                {title} <small>{countText(tasks.length)}</small>
            </h3>
            <ul>
                {tasks.slice(0, mostShown).map((task) => (
                    <li>
                        <TaskLink model={model} task={task} />
                        {marked(task) && (
                            <span class="mark" title={markHint}>
                                ◆
                            </span>
                        )}
                        <span class="right">{durationText(timeOf(task))}</span>
                    </li>
                ))}
            </ul>
            {tasks.length > mostShown && <p class="note">and {countText(tasks.length - mostShown)} more</p>}
        </section>
    );
}

function Neighbours({ model, task }: { model: Model; task: number }) {
    const { tasks } = model;
    const before = new Set(listOf(model.predecessors, task));
    if (tasks.releasedBy[task]! >= 0) before.add(tasks.releasedBy[task]!);
    const left = arrowsOf(model, task).left;
    return (
        <>
            <TaskList
                model={model}
                title="Waited for"
                tasks={[...before].sort((a, b) => tasks.ended[b]! - tasks.ended[a]!)}
                marked={(other) => tasks.releasedBy[task] === other}
                markHint="its end released this task"
                timeOf={(other) => tasks.own[other]!}
            />
            <TaskList
                model={model}
                title="Waited for by"
                tasks={[...new Set(listOf(model.successors, task))].sort((a, b) => tasks.started[a]! - tasks.started[b]!)}
                marked={(other) => tasks.releasedBy[other] === task}
                markHint="released by the end of this task"
                timeOf={(other) => tasks.own[other]!}
            />
            <section class="neighbours">
                <h3>Parents</h3>
                <ul>
                    {parentsOf(model, task).map((parent) => (
                        <li>
                            <TaskLink model={model} task={parent} />
                        </li>
                    ))}
                </ul>
                <h3>
                    Children <small>{countText(listOf(model.children, task).length)}</small>
                </h3>
                <ul>
                    {[...listOf(model.children, task).slice(0, mostShown)].map((child) => (
                        <li>
                            <TaskLink model={model} task={child} />
                            <span class="right">{durationText(tasks.own[child]!)}</span>
                        </li>
                    ))}
                </ul>
                {left > 0 && <p class="note">{countText(left)} arrows are left out of the timeline.</p>}
            </section>
        </>
    );
}

function parentsOf(model: Model, task: number): number[] {
    const found: number[] = [];
    for (let at = model.tasks.parent[task]!; at >= 0 && found.length < 32 && !found.includes(at); at = model.tasks.parent[at]!) found.push(at);
    return found;
}

function CriticalPath({ model, analysis }: { model: Model; analysis: FrameAnalysis | null }) {
    if (analysis === null || analysis.path.length === 0) return null;
    const names = ["dependency", "queue", "affinity", "preempted"] as const;
    return (
        <section class="path">
            <h3>
                Critical path <small>{analysis.path.length} tasks</small>
            </h3>
            <div class="path-list">
                <table>
                    <thead>
                        <tr>
                            <th>task</th>
                            <th class="right">runs</th>
                            {names.map((name) => (
                                <th class="right" title={`waited before or in it: ${name}`}>
                                    {name}
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {analysis.path.map((step) => (
                            <tr>
                                <td>
                                    <TaskLink model={model} task={step.task} />
                                </td>
                                <td class="right">{durationText(step.end - step.begin)}</td>
                                {names.map((name) => (
                                    <td class="right">{step.waits[name] > 0 ? durationText(step.waits[name]) : ""}</td>
                                ))}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </section>
    );
}
