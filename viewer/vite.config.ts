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
    // Limits guard against hangs alone, as everywhere: tests/support/scale.hpp.
    test: { include: ["tests/unit/**/*.test.ts"], environment: "node", testTimeout: 600_000, hookTimeout: 600_000 },
});
