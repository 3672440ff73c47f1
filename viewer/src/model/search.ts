// Finds spans by name, by the id of their task, and by their length.
import { Layer, SpanKind, spanName, typeName, type Model } from "./model";
import { tasksOfText } from "./task_ids";

export interface Query {
    /** Lower case; all of them are in the name. */
    words: string[];
    /** A decimal id, or empty. */
    id: string;
    longerThan: number;
    shorterThan: number;
}

const units: Record<string, number> = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9 };

/** "skin", "#4294967301", "skin >1.5ms", "pose <20us". */
export function parseQuery(text: string): Query {
    const query: Query = { words: [], id: "", longerThan: 0, shorterThan: Infinity };
    for (const word of text.trim().toLowerCase().split(/\s+/)) {
        const bound = /^([<>])(\d+(?:\.\d+)?)(ns|us|µs|ms|s)$/.exec(word);
        if (bound !== null) {
            const ns = Number(bound[2]) * units[bound[3]!]!;
            if (bound[1] === ">") query.longerThan = ns;
            else query.shorterThan = ns;
        } else if (/^#\d+$/.test(word)) {
            query.id = word.slice(1);
        } else if (word !== "") {
            query.words.push(word);
        }
    }
    return query;
}

export interface Found {
    /** In order of time, at most as many as asked for. */
    spans: Uint32Array;
    total: number;
}

export function search(model: Model, text: string, most: number): Found {
    const query = parseQuery(text);
    const nothing = { spans: new Uint32Array(0), total: 0 };
    if (query.id !== "") {
        const ran = tasksOfText(model.tasks.ids, query.id).map((task) => model.tasks.span[task]!).filter((span) => span >= 0);
        return { spans: Uint32Array.from(ran.slice(0, most)), total: ran.length };
    }
    if (query.words.length === 0 && query.longerThan === 0 && query.shorterThan === Infinity) return nothing;
    const fits = (name: string): boolean => query.words.every((word) => name.toLowerCase().includes(word));
    const typeFits = model.types.map((_, type) => fits(typeName(model, type)));
    const { spans } = model;
    let found = new Float64Array(1024);
    let count = 0;
    for (const row of model.rows) {
        if (row.layer !== Layer.body) continue;
        for (let span = row.first; span < row.first + row.count; ++span) {
            const length = spans.end[span]! - spans.begin[span]!;
            if (length <= query.longerThan && query.longerThan > 0) continue;
            if (length >= query.shorterThan) continue;
            const kind = spans.kind[span]!;
            if (!typeFits[spans.type[span]!] && !(kind === SpanKind.job && fits(spanName(model, span)))) continue;
            if (count === found.length) {
                const wider = new Float64Array(count * 2);
                wider.set(found);
                found = wider;
            }
            found[count++] = span;
        }
    }
    const ordered = Uint32Array.from(found.subarray(0, count));
    ordered.sort((a, b) => spans.begin[a]! - spans.begin[b]!);
    return { spans: ordered.slice(0, most), total: count };
}
