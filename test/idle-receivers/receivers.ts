import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { certificate } from "../support/certificates.ts";
import { freePort } from "../support/free-port.ts";
import { ROOT } from "../support/root.ts";

export const HOST = "127.0.0.2";

const execute = promisify(execFile);
const SOURCES = join(ROOT, "test/idle-receivers");

const PYTHON = [
  ...["uvicorn==0.54.0", "hypercorn==0.18.0", "gunicorn==27.0.1", "cheroot==11.1.2"],
  ...["twisted[tls]==26.10.0", "aiohttp==3.14.5", "granian==2.8.7", "tornado==6.6.1"],
  "sanic==25.3.0",
];
const GO = "github.com/valyala/fasthttp@v1.78.0";
const JAVA = [
  ["org.eclipse.jetty", "jetty-server", "12.0.25"],
  ["org.apache.tomcat.embed", "tomcat-embed-core", "11.0.10"],
  ["io.undertow", "undertow-core", "2.3.18.Final"],
  ["org.glassfish.grizzly", "grizzly-http-server", "4.1.0"],
  ["io.projectreactor.netty", "reactor-netty-http", "1.2.9"],
  ["io.vertx", "vertx-core", "5.0.4"],
];

/** Each installs its packages in a folder of its own. */
const INSTALLERS = {
  async pip(folder: string) {
    await execute("python3", ["-m", "venv", "--without-pip", folder]);
    const pip = ["-m", "pip", "--python", join(folder, "bin/python"), "install"];
    await execute("python3", [...pip, "-q", "--no-compile", ...PYTHON]);
  },

  async go(folder: string) {
    await copyFile(join(SOURCES, "receivers.go"), join(folder, "receivers.go"));
    await writeFile(join(folder, "go.mod"), "module receivers\n\ngo 1.19\n");
    await execute("go", ["get", GO], { cwd: folder });
    await execute("go", ["build", "-o", "receivers", "."], { cwd: folder });
  },

  async maven(folder: string) {
    const dependencies = JAVA.map(([group = "", artifact = "", version = ""]) => {
      const names = `<groupId>${group}</groupId><artifactId>${artifact}</artifactId>`;
      return `<dependency>${names}<version>${version}</version></dependency>`;
    });
    const own = "<groupId>receivers</groupId><artifactId>receivers</artifactId>";
    const project = `<modelVersion>4.0.0</modelVersion>${own}<version>1</version>`;
    const all = `<dependencies>${dependencies.join("")}</dependencies>`;
    await writeFile(join(folder, "pom.xml"), `<project>${project}${all}</project>`);
    const goal = ["dependency:copy-dependencies", "-DoutputDirectory=lib"];
    await execute("mvn", ["-q", "-B", ...goal], { cwd: folder });
    const source = join(SOURCES, "Receivers.java");
    await execute("javac", ["-nowarn", "-cp", "lib/*", "-d", ".", source], { cwd: folder });
  },
};

/** A program that runs one receiver or more. */
interface Program {
  receivers: string[];
  /** What installs its packages, if not Debian. */
  by?: keyof typeof INSTALLERS;
  /**
   * `%PORT%` is the port of the first receiver. Each receiver also finds its port in a variable of its name. Without a configured idle
   * time, what brackets enclose is left out.
   */
  command: string;
  /** In `configurations/`. Without a configured idle time, lines with `%IDLE%` are left out. */
  configuration?: string;
}

const python = (name: string, command = `python %SOURCES%/receiver.py ${name}`): Program => ({
  receivers: [name],
  by: "pip",
  command: `%FOLDER%/bin/${command}`,
});

const configured = (name: string, configuration: string, command: string): Program => ({
  receivers: [name],
  configuration,
  command: `${command} %FOLDER%/${configuration}`,
});

const TLS = "--host %HOST% --port %PORT% --ssl-keyfile %KEY%";
const AT = "%HOST%:%PORT% --keyfile %KEY% --certfile %CERT%";
const MOJO = "perl %SOURCES%/configurations/mojolicious.pl daemon -l";
const STARMAN = "starman --listen %HOST%:%PORT%:ssl --enable-ssl --ssl-key %KEY% --ssl-cert %CERT%";

const PROGRAMS: Program[] = [
  python(
    "uvicorn",
    `uvicorn receiver:asgi ${TLS} --ssl-certfile %CERT% [--timeout-keep-alive %IDLE%]`,
  ),
  python("hypercorn", `hypercorn receiver:asgi --bind ${AT} [--keep-alive %IDLE%]`),
  python(
    "gunicorn",
    `gunicorn receiver:wsgi -k gthread --threads 32 --bind ${AT} [--keep-alive %IDLE%]`,
  ),
  python(
    "granian",
    `granian receiver:asgi --interface asgi ${TLS} --ssl-certificate %CERT% [--http1-header-read-timeout %IDLE%000]`,
  ),
  ...["cheroot", "twisted", "aiohttp", "tornado", "sanic"].map((name) => python(name)),
  {
    receivers: ["uwsgi"],
    command: `uwsgi --plugins http,python3 --https %HOST%:%PORT%,%CERT%,%KEY% [--http-keepalive=%IDLE%] --master --threads 8 --wsgi-file %SOURCES%/receiver.py --callable wsgi`,
  },
  { receivers: ["node"], command: `${process.execPath} %SOURCES%/receiver.mjs` },
  {
    receivers: ["bun"],
    command: `${join(ROOT, "runtimes/node_modules/@oven/bun-linux-x64/bin/bun")} %SOURCES%/receiver.bun.mjs`,
  },
  { receivers: ["net_http", "fasthttp"], by: "go", command: "%FOLDER%/receivers" },
  {
    receivers: ["jdk", "jetty", "tomcat", "undertow", "grizzly", "reactor_netty", "vertx"],
    by: "maven",
    command:
      "java [-Dsun.net.httpserver.idleInterval=%IDLE% -Dsun.net.httpserver.clockTick=1000] -cp %FOLDER%:%FOLDER%/lib/* Receivers",
  },
  configured("nginx", "nginx.conf", "nginx -p %FOLDER% -e stderr -c"),
  configured("apache", "apache.conf", "apache2 -X -f"),
  configured("lighttpd", "lighttpd.conf", "lighttpd -D -f"),
  configured("h2o", "h2o.conf", "h2o -c"),
  configured("haproxy", "haproxy.cfg", "haproxy -db -f"),
  configured("caddy", "Caddyfile", "caddy run --adapter caddyfile --config"),
  configured("puma", "puma.rb", "puma -C"),
  configured("webrick", "webrick.rb", "ruby"),
  {
    receivers: ["thin"],
    command:
      "thin --ssl --ssl-key-file %KEY% --ssl-cert-file %CERT% -a %HOST% -p %PORT% [-t %IDLE%] -R %SOURCES%/configurations/config.ru start",
  },
  {
    receivers: ["inets"],
    command: `erl -noshell -eval {ok,M}=c:c("%SOURCES%/receiver.erl"),M:start()`,
  },
  {
    receivers: ["yaws"],
    configuration: "yaws.conf",
    command: `erl -noshell -pa /usr/lib/yaws/ebin -run yaws -yaws conf "%FOLDER%/yaws.conf"`,
  },
  {
    receivers: ["starman"],
    command: `${STARMAN} --workers 16 [--keepalive-timeout %IDLE%] %SOURCES%/configurations/app.psgi`,
  },
  {
    receivers: ["mojolicious"],
    command: `${MOJO} https://%HOST%:%PORT%?cert=%CERT%&key=%KEY% [-k %IDLE%]`,
  },
];

interface Scope {
  after(work: () => Promise<void>): void;
}

/** What a program gets: in its environment, and in place of `%NAME%` in its command and its configuration. */
type Values = Record<string, string>;

export interface Receiver {
  name: string;
  port: number;
}

interface Choice {
  /** Without it each receiver has its own. */
  idleSeconds?: number;
  /** Default: all of them. */
  names?: readonly string[];
}

/** Starts every receiver that can be had. `missing` says why the others do not run. */
export async function startReceivers(
  t: Scope,
  folder: string,
  { idleSeconds, names: wanted = [] }: Choice = {},
) {
  const programs = PROGRAMS.filter(
    ({ receivers }) => wanted.length === 0 || receivers.some((name) => wanted.includes(name)),
  );
  const values = {
    ...{ HOST, SOURCES, PYTHONPATH: SOURCES, PYTHONDONTWRITEBYTECODE: "1" },
    ...(await writeCertificate(folder)),
    ...(idleSeconds !== undefined && { IDLE: String(idleSeconds) }),
  };
  const places = new Map(
    Object.entries(INSTALLERS)
      .filter(([by]) => programs.some((program) => program.by === by))
      .map(([by, install]) => [by, installed(join(folder, by), install)]),
  );
  const all = await Promise.all(
    programs.map(async (program) => {
      const { by = "", receivers: names } = program;
      try {
        const own = join(folder, names.join("-"));
        await mkdir(own);
        const FOLDER = (await places.get(by)) ?? own;
        return { receivers: await startProgram(t, program, { ...values, FOLDER }), missing: [] };
      } catch (error) {
        const [why = ""] = (error as Error).message.split("\n");
        return { receivers: [], missing: names.map((name) => ({ name, why })) };
      }
    }),
  );
  return {
    receivers: all.flatMap(({ receivers }) => receivers),
    missing: all.flatMap(({ missing }) => missing),
  };
}

async function installed(folder: string, install: (folder: string) => Promise<void>) {
  await mkdir(folder);
  await install(folder);
  return folder;
}

async function writeCertificate(folder: string): Promise<Values> {
  const { key, cert } = await certificate({ hosts: [], addresses: [HOST], kind: "good" });
  const [KEY, CERT, BOTH, P12] = ["key.pem", "cert.pem", "both.pem", "both.p12"].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  await writeFile(KEY, key);
  await writeFile(CERT, cert);
  await writeFile(BOTH, `${key}\n${cert}`);
  await execute("openssl", [
    "pkcs12",
    "-export",
    "-in",
    BOTH,
    "-out",
    P12,
    "-passout",
    "pass:idle",
  ]);
  return { KEY, CERT, BOTH, P12 };
}

async function startProgram(t: Scope, program: Program, common: Values): Promise<Receiver[]> {
  const { receivers: names, command, configuration } = program;
  const receivers = await Promise.all(
    names.map(async (name) => ({ name, port: await freePort() })),
  );
  const values: Values = { ...common, PORT: String(receivers[0]?.port) };
  for (const { name, port } of receivers) values[name.toUpperCase()] = String(port);

  if (configuration !== undefined) {
    const text = await readFile(join(SOURCES, "configurations", configuration), "utf8");
    const lines = text.split("\n").filter((line) => "IDLE" in values || !line.includes("%IDLE%"));
    await writeFile(join(values["FOLDER"] ?? "", configuration), filled(lines.join("\n"), values));
  }
  const chosen = command.replace(/\[(.*?)\]/g, "IDLE" in values ? "$1" : "");
  const [path = "", ...args] = filled(chosen, values).split(" ").filter(Boolean);
  const child = await run(t, path, args, values);
  await Promise.all(receivers.map(({ port }) => untilListening(port, child)));
  return receivers;
}

function filled(text: string, values: Values): string {
  return text.replace(/%([A-Z0-9]+)%/g, (_, name: string) => values[name] ?? "");
}

/** Starts a program in a process group of its own, which ends with the test. */
async function run(t: Scope, path: string, args: string[], values: Values): Promise<ChildProcess> {
  const env = { ...process.env, ...values, HOME: values["FOLDER"] };
  const options = { cwd: values["FOLDER"], env, detached: true, stdio: "ignore" } as const;
  const child = spawn(path, args, options);
  await once(child, "spawn");
  const exit = once(child, "exit");
  t.after(async () => {
    if (child.exitCode === null) process.kill(-(child.pid ?? 0), "SIGKILL");
    await exit;
  });
  return child;
}

async function untilListening(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const socket = connect(port, HOST);
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await pause(50);
  }
  throw new Error(`${child.spawnfile} ended with ${child.exitCode}`);
}
