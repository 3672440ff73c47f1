// Light or dark: as the system says, until somebody chooses.
import { useEffect } from "preact/hooks";
import { useSession, useSessionState } from "./hooks";

const key = "braid-theme";

function remembered(): string | null {
    // A page from a file may have no storage.
    try {
        return localStorage.getItem(key);
    } catch {
        return null;
    }
}

export function useTheme(): void {
    const session = useSession();
    const { dark } = useSessionState();
    useEffect(() => {
        const system = matchMedia("(prefers-color-scheme: dark)");
        const follow = (): void => {
            const chosen = remembered();
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

export function rememberTheme(dark: boolean): void {
    try {
        localStorage.setItem(key, dark ? "dark" : "light");
    } catch {
        // Then it is chosen again next time.
    }
}
