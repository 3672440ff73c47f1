import { buildModel } from "../../src/model/build_model";
import type { Model } from "../../src/model/model";
import { CaptureParser } from "../../src/parse/capture_parser";

export function modelOf(bytes: Uint8Array): Model {
    const parser = new CaptureParser();
    parser.feed(bytes);
    parser.finish();
    return buildModel(parser);
}
