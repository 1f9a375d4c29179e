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
    this.error(`error: required option${missing.length === 1 ? "" : "s"} ${flags} not specified`, {
      code: "commander.missingMandatoryOptionValue",
    });
  }

  /** Commander calls this at the first missing argument. All arguments before it are given. */
  missingArgument(): void {
    const missing = this.registeredArguments
      .slice(this.args.length)
      .filter((argument) => argument.required);
    const names = missing.map((argument) => `'${argument.name()}'`).join(", ");
    this.error(`error: missing required argument${missing.length === 1 ? "" : "s"} ${names}`, {
      code: "commander.missingArgument",
    });
  }
}
