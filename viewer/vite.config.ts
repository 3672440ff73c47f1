import { defineConfig } from "vitest/config";
import { onePage } from "./build/one_page";

export default defineConfig({
    plugins: [onePage()],
    esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
    worker: { format: "iife" },
    build: {
        target: "es2022",
        assetsInlineLimit: Number.MAX_SAFE_INTEGER,
        cssCodeSplit: false,
        modulePreload: false,
        reportCompressedSize: false,
        emptyOutDir: true,
    },
    test: { include: ["tests/unit/**/*.test.ts"], environment: "node" },
});
