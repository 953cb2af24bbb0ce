export { canonicalJson } from "../../src/shared/rules/canonical.ts";
