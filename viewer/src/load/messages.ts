// What the page and the worker that reads captures say to each other.
import type { Model } from "../model/model";

export type ToReader =
    | { kind: "feed"; bytes: ArrayBuffer }
    /** Bytes as base64, from a page that holds its own capture. */
    | { kind: "base64"; text: string }
    /** Nothing more will come. */
    | { kind: "finish" }
    /** More will come for as long as the program runs: show what there is, now and then. */
    | { kind: "live" };

export type FromReader =
    | { kind: "progress"; records: number }
    | { kind: "model"; model: Model; live: boolean }
    | { kind: "failed"; sentence: string };
