// Light or dark: as the system says, until somebody chooses.
import { useEffect } from "preact/hooks";
import { useSession, useSessionState } from "./hooks";
import { rememberedTheme } from "./remembered";

export function useTheme(): void {
    const session = useSession();
    const { dark } = useSessionState();
    useEffect(() => {
        const system = matchMedia("(prefers-color-scheme: dark)");
        const follow = (): void => {
            const chosen = rememberedTheme();
            session.set({ dark: chosen === null ? system.matches : chosen === "dark" });
        };
        follow();
        system.addEventListener("change", follow);
        return () => system.removeEventListener("change", follow);
    }, [session]);
    useEffect(() => {
        document.documentElement.dataset.theme = dark ? "dark" : "light";
    }, [dark]);
}
