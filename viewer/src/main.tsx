import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./styles.css";
import { App } from "./ui/app";
import { SessionContext } from "./ui/hooks";
import { Session } from "./ui/session";

const session = new Session();
render(
    <SessionContext.Provider value={session}>
        <App />
    </SessionContext.Provider>,
    document.getElementById("app")!,
);
session.start(document, location);
// Another token there is another capture.
addEventListener("hashchange", () => location.reload());

// For tests: what a redraw costs, with the pixels there when the clock stops.
declare global {
    interface Window {
        braid: { session: Session; redraw(): { ms: number; rectangles: number } };
    }
}
window.braid = {
    session,
    redraw() {
        const canvas = document.querySelector<HTMLCanvasElement>("canvas.timeline")!;
        const began = performance.now();
        const rectangles = session.timeline?.draw() ?? 0;
        canvas.getContext("2d")!.getImageData(0, 0, 1, 1);
        return { ms: performance.now() - began, rectangles };
    },
};
