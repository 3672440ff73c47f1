// The lower part of the page: one tab at a time, and a bar to make it higher.
import { useState } from "preact/hooks";
import { countText } from "../model/time";
import { useSession, useSessionState } from "./hooks";
import { ComparePanel } from "./panels/compare_panel";
import { DetailsPanel } from "./panels/details_panel";
import { FindPanel } from "./panels/find_panel";
import { GraphPanel } from "./panels/graph_panel";
import { TreePanel } from "./panels/tree_panel";
import { TypesPanel } from "./panels/types_panel";
import { WhatIfPanel } from "./panels/what_if_panel";
import { tabs, type Tab } from "./session";

const panels: Record<Tab, () => preact.JSX.Element | null> = {
    details: DetailsPanel,
    tree: TreePanel,
    types: TypesPanel,
    graph: GraphPanel,
    "what if": WhatIfPanel,
    compare: ComparePanel,
    find: FindPanel,
};

const titles: Record<Tab, string> = {
    details: "Selection",
    tree: "Frame tree",
    types: "Types",
    graph: "Graph",
    "what if": "What if",
    compare: "Compare",
    find: "Find",
};

export function Panels() {
    const session = useSession();
    const { tab, found } = useSessionState();
    const [height, setHeight] = useState(300);
    const Panel = panels[tab];
    return (
        <section class="panels" style={{ height: `${height}px` }}>
            <div
                class="splitter"
                onPointerDown={(event) => {
                    const bar = event.currentTarget;
                    const from = event.clientY + height;
                    bar.setPointerCapture(event.pointerId);
                    bar.onpointermove = (move) => setHeight(Math.min(Math.max(from - move.clientY, 60), innerHeight - 300));
                    bar.onpointerup = () => (bar.onpointermove = null);
                }}
            />
            <nav role="tablist">
                {tabs.map((name) => (
                    <button role="tab" aria-selected={name === tab} onClick={() => session.set({ tab: name })}>
                        {titles[name]}
                        {name === "find" && found !== null && <span class="count">{countText(found.total)}</span>}
                    </button>
                ))}
            </nav>
            <div class="panel">
                <Panel />
            </div>
        </section>
    );
}
