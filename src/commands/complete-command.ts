import { Command } from "commander";

/** A command that names every missing option and argument in one error. Commander's own names the first one only. */
export class CompleteCommand extends Command {
  override createCommand(name?: string): Command {
    return new CompleteCommand(name);
  }

  /** Commander calls this at the first missing option. */
  missingMandatoryOptionValue(): void {
    const missing = this.options.filter(
      (option) => option.mandatory && this.getOptionValue(option.attributeName()) === undefined,
    );
    const flags = missing.map(({ flags }) => `'${flags}'`).join(", ");
    const options = `required option${missing.length === 1 ? "" : "s"} ${flags} not specified`;
    const both = [this.#missingArguments, options].filter((text) => text !== null);
    this.error(`error: ${both.join("; ")}`, { code: "commander.missingMandatoryOptionValue" });
  }

  /** Commander calls this at the first missing argument, if no option is missing. */
  missingArgument(): void {
    this.error(`error: ${this.#missingArguments ?? ""}`, { code: "commander.missingArgument" });
  }

  get #missingArguments(): string | null {
    const missing = this.registeredArguments
      .slice(this.args.length)
      .filter((argument) => argument.required);
    if (missing.length === 0) return null;
    const names = missing.map((argument) => `'${argument.name()}'`).join(", ");
    return `missing required argument${missing.length === 1 ? "" : "s"} ${names}`;
  }
}
