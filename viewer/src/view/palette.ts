// Colours of the canvas, for light and dark. Types get hues of equal lightness, so that no type
// shouts, and the text on them is as readable on each.

export interface Rgb {
    red: number;
    green: number;
    blue: number;
}

/** From OKLCH, whose lightness is as people see it. */
export function rgbOf(lightness: number, chroma: number, hue: number): Rgb {
    const a = chroma * Math.cos((hue * Math.PI) / 180);
    const b = chroma * Math.sin((hue * Math.PI) / 180);
    const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
    const channel = (linear: number): number => {
        const value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
        return Math.round(Math.min(Math.max(value, 0), 1) * 255);
    };
    return {
        red: channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
        green: channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
        blue: channel(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
    };
}

export function cssOf({ red, green, blue }: Rgb): string {
    return `rgb(${red},${green},${blue})`;
}

/** As the pixels of a canvas lie in memory, without the alpha in the highest byte. */
export function pixelOf({ red, green, blue }: Rgb): number {
    return (blue << 16) | (green << 8) | red;
}

export interface Palette {
    dark: boolean;
    background: string;
    gutter: string;
    line: string;
    text: string;
    faint: string;
    onSpan: string;
    wait: Rgb;
    searching: Rgb;
    parked: Rgb;
    hatch: string;
    fade: string;
    hatchSoft: string;
    selection: string;
    path: string;
    incoming: string;
    outgoing: string;
    over: string;
    good: string;
    frame: string;
    frameChosen: string;
    counter: string;
    /** Types, cores: colour `n % spans.length`. The last one is for what has none. */
    spans: Rgb[];
    none: Rgb;
    /** Low, normal, high, background. */
    priorities: Rgb[];
}

/** Hues in an order in which neighbours are easy to tell apart. */
const hues = [250, 55, 155, 20, 300, 100, 200, 345, 130, 275, 75, 225, 320, 180, 38, 115];

export function paletteFor(dark: boolean): Palette {
    const lightness = dark ? 0.7 : 0.79;
    const chroma = dark ? 0.095 : 0.1;
    const spans = [
        ...hues.map((hue) => rgbOf(lightness, chroma, hue)),
        ...hues.map((hue) => rgbOf(lightness - 0.1, chroma * 0.75, hue + 11)),
    ];
    const both = { dark, spans, none: rgbOf(dark ? 0.55 : 0.78, 0.01, 250) };
    if (dark) {
        return {
            ...both,
            background: "#14171c",
            gutter: "#191d23",
            line: "#262b33",
            text: "#d5dae1",
            faint: "#8a93a0",
            onSpan: "#0b0d10",
            wait: rgbOf(0.32, 0.012, 250),
            searching: rgbOf(0.29, 0.03, 85),
            parked: rgbOf(0.215, 0.01, 255),
            hatch: "rgb(255,92,80)",
            fade: "rgba(20,23,28,.5)",
            hatchSoft: "rgba(210,215,224,.5)",
            selection: "#ffffff",
            path: "#ffb02e",
            incoming: "#ff8a73",
            outgoing: "#66c8ff",
            over: "#ff6f61",
            good: "#5b8fc7",
            frame: "#1d2229",
            frameChosen: "rgba(120,170,255,.10)",
            counter: "#7fa6d6",
            priorities: [rgbOf(0.58, 0.03, 250), rgbOf(0.7, 0.09, 230), rgbOf(0.74, 0.13, 45), rgbOf(0.62, 0.06, 320)],
        };
    }
    return {
        ...both,
        background: "#ffffff",
        gutter: "#f5f6f8",
        line: "#e2e5ea",
        text: "#1f252d",
        faint: "#69727e",
        onSpan: "#12161b",
        wait: rgbOf(0.92, 0.008, 250),
        searching: rgbOf(0.94, 0.03, 90),
        parked: rgbOf(0.972, 0.003, 255),
        hatch: "rgb(205,35,25)",
        fade: "rgba(255,255,255,.5)",
        hatchSoft: "rgba(60,66,76,.45)",
        selection: "#0a0d12",
        path: "#d97a00",
        incoming: "#d1452c",
        outgoing: "#1673b8",
        over: "#d8483a",
        good: "#6d9bcf",
        frame: "#f7f8fa",
        frameChosen: "rgba(40,110,220,.07)",
        counter: "#4a7fbf",
        priorities: [rgbOf(0.82, 0.02, 250), rgbOf(0.8, 0.09, 235), rgbOf(0.78, 0.14, 50), rgbOf(0.8, 0.06, 320)],
    };
}
