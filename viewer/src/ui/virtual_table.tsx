// A table of any length: only the rows in view are in the page.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useSize } from "./hooks";

export const tableRow = 21;

export interface Column {
    title: string;
    /** As in grid-template-columns. */
    width: string;
    right?: boolean;
    hint?: string;
}

interface Props {
    columns: Column[];
    count: number;
    /** The cells of a row. */
    cells(row: number): ComponentChildren[];
    keyOf(row: number): string | number;
    onClick?(row: number): void;
    isChosen?(row: number): boolean;
    /** A row to bring into view whenever this changes, -1: none. */
    bring?: number;
    empty?: string;
    name: string;
}

export function VirtualTable({ columns, count, cells, keyOf, onClick, isChosen, bring = -1, empty = "", name }: Props) {
    const { of, height } = useSize<HTMLDivElement>();
    const [top, setTop] = useState(0);
    useEffect(() => {
        const element = of.current;
        if (element === null || bring < 0) return;
        const at = bring * tableRow;
        if (at < element.scrollTop || at + 2 * tableRow > element.scrollTop + element.clientHeight) {
            element.scrollTop = at - element.clientHeight / 2;
        }
    }, [bring, of]);
    const grid = { gridTemplateColumns: columns.map((column) => column.width).join(" ") };
    const first = Math.max(0, Math.floor(top / tableRow) - 4);
    const last = Math.min(count, Math.ceil((top + height) / tableRow) + 4);
    const rows = [];
    for (let row = first; row < last; ++row) {
        rows.push(
            <div
                key={keyOf(row)}
                class={`row ${isChosen?.(row) === true ? "chosen" : ""} ${onClick === undefined ? "" : "clickable"}`}
                style={{ ...grid, top: `${row * tableRow}px` }}
                onClick={() => onClick?.(row)}
            >
                {cells(row).map((cell, i) => (
                    <span class={columns[i]!.right === true ? "right" : ""}>{cell}</span>
                ))}
            </div>,
        );
    }
    return (
        <div class={`table ${name}`}>
            <div class="table-body" ref={of} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
                <div class="table-head" style={grid}>
                    {columns.map((column) => (
                        <span class={column.right === true ? "right" : ""} title={column.hint}>
                            {column.title}
                        </span>
                    ))}
                </div>
                {count === 0 && empty !== "" && <p class="note">{empty}</p>}
                <div style={{ height: `${count * tableRow}px` }}>{rows}</div>
            </div>
        </div>
    );
}
