import { useSession } from "./hooks";
import { keyHelp, mouseHelp } from "./keys";

export function Help() {
    const session = useSession();
    return (
        <div class="help-ground" onClick={() => session.set({ help: false })}>
            <div class="help" onClick={(event) => event.stopPropagation()}>
                <section>
                    <h3>Keys</h3>
                    <Pairs pairs={keyHelp} />
                    <h3>Mouse</h3>
                    <Pairs pairs={mouseHelp} />
                </section>
                <section>
                    <h3>What the timeline shows</h3>
                    <ul>
                        <li>Each lane is a thread or a device. A task that ran while another waited lies below it.</li>
                        <li>A pale part of a task is a wait. Faint stretches between tasks: the thread searched for work, or slept.</li>
                        <li>Red hatching: the system gave the core to somebody else. Grey hatching: the thread left it by itself, or it is only known that it was off its core during the task.</li>
                        <li>The orange line joins the critical path: what the frame's length is made of.</li>
                        <li>Arrows of the selected task: what it waited for comes in, what waited for it goes out. The heavy ones released something.</li>
                        <li>Zoomed out, a column of pixels stands for many tasks: the paler it is, the less of it was busy, and it has the colour of the longest.</li>
                    </ul>
                </section>
            </div>
        </div>
    );
}

function Pairs({ pairs }: { pairs: [string, string][] }) {
    return (
        <dl>
            {pairs.map(([name, text]) => (
                <>
                    <dt>{name}</dt>
                    <dd>{text}</dd>
                </>
            ))}
        </dl>
    );
}
