/** The version that runs (HTTP-6); a test holds it against package.json. */
export const VERSION = "0.1.0";
