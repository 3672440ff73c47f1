// The keyboard: as in other timelines, WASD under the left hand.
import type { Session } from "./session";

export const keyHelp: [string, string][] = [
    ["W  S", "zoom in and out around the pointer"],
    ["A  D", "earlier, later"],
    ["←  →", "previous and next frame"],
    ["Home  End", "first and last frame"],
    ["F", "fit the frame; once more: fit everything"],
    ["Z", "fit the selected span"],
    ["/", "find: name, #id, >1.5ms, <20us"],
    ["C", "colour by type, core, priority"],
    ["L", "light or dark"],
    ["Esc", "take back: help, range, selection, type, search"],
    ["?", "this list"],
];

export const mouseHelp: [string, string][] = [
    ["wheel", "zoom around the pointer"],
    ["wheel on names", "scroll the lanes"],
    ["Shift wheel", "earlier, later"],
    ["drag", "move"],
    ["Shift drag", "measure a range"],
    ["click", "select; on a lane's name: collapse; on a frame: select it"],
    ["double click", "fit the span"],
];

export function installKeys(session: Session): () => void {
    const listener = (event: KeyboardEvent): void => {
        const target = event.target as HTMLElement | null;
        const isTyping = target !== null && (target.tagName === "INPUT" || target.tagName === "SELECT");
        if (event.key === "Escape") {
            if (isTyping) target.blur();
            session.escape();
            return;
        }
        if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
        if (press(session, event.key)) event.preventDefault();
    };
    addEventListener("keydown", listener);
    return () => removeEventListener("keydown", listener);
}

function press(session: Session, key: string): boolean {
    const { timeline, state } = session;
    if (key === "?") {
        session.set({ help: !state.help });
        return true;
    }
    if (key === "l" || key === "L") {
        session.setDark(!state.dark);
        return true;
    }
    if (timeline === null || state.model === null) return false;
    const pointer = timeline.pointerTime ?? (timeline.view.begin + timeline.view.end) / 2;
    switch (key) {
        case "w":
        case "W":
            timeline.zoom(1 / 1.4, pointer);
            break;
        case "s":
        case "S":
            timeline.zoom(1.4, pointer);
            break;
        case "a":
        case "A":
            session.setFollowing(false);
            timeline.move(-0.15);
            break;
        case "d":
        case "D":
            timeline.move(0.15);
            break;
        case "ArrowLeft":
            session.selectFrame(state.frame - 1);
            break;
        case "ArrowRight":
            session.selectFrame(state.frame + 1);
            break;
        case "Home":
            session.selectFrame(0);
            break;
        case "End":
            session.selectFrame(state.model.frames.count - 1);
            break;
        case "f":
        case "F":
            session.fit();
            break;
        case "z":
        case "Z":
            if (state.span >= 0) timeline.fitSpan(state.span);
            break;
        case "c":
        case "C": {
            const order = ["type", "core", "priority"] as const;
            session.set({ colourBy: order[(order.indexOf(state.colourBy) + 1) % 3]! });
            break;
        }
        case "/":
            document.querySelector<HTMLInputElement>("input.search")?.focus();
            break;
        default:
            return false;
    }
    return true;
}
