import { execFile } from "node:child_process";
import { promisify } from "node:util";

// .ci/run compiles the first two before the tests. A new machine needs minutes for them.
export const HELM = "helm.sh/helm/v3/cmd/helm@v3.19.0";
export const KUBECONFORM = "github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0";
export const COMPOSE = "github.com/compose-spec/compose-go/v2/cmd@v2.9.0";

/** Compiles a program from its Go module, if Go has not kept it, and runs it. */
export function goRun(program: string, ...args: string[]): Promise<{ stdout: string }> {
  return promisify(execFile)("go", ["run", program, ...args], { maxBuffer: 2 ** 24 });
}
