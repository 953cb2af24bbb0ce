import { Command } from "commander";
import manifest from "../../package.json" with { type: "json" };

const program = new Command("bullpen")
  .description("Rooms where people and their AI agents work together.")
  .version(manifest.version);

await program.parseAsync();
