import { useSession } from "./hooks";

/** The colour in which the timeline shows a type. */
export function Swatch({ type }: { type: number }) {
    const session = useSession();
    return <i class="swatch" style={{ background: session.timeline?.colourOfType(type) ?? "transparent" }} />;
}
