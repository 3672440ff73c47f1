// What the browser remembers from one capture to the next.

const key = "braid-theme";

export function rememberedTheme(): string | null {
    // A page from a file may have no storage.
    try {
        return localStorage.getItem(key);
    } catch {
        return null;
    }
}

export function rememberTheme(dark: boolean): void {
    try {
        localStorage.setItem(key, dark ? "dark" : "light");
    } catch {
        // Then it is chosen again next time.
    }
}
