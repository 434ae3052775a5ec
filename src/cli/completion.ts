import type { Argument, Command, Option } from "commander";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** The command that completion scripts ask for ids and labels. */
export const NAMES_COMMAND = "__names";

/** What a shell needs to know about one command. */
interface Entry {
  name: string;
  summary: string;
  options: readonly Option[];
  /** Takes ids, so the running processes are offered. */
  takesId: boolean;
  /** Words that its first argument may be. */
  words: readonly string[];
}

/** A completion script, generated from the commands themselves so that it cannot fall behind. */
export function completionScript(program: Command, shell: Shell): string {
  const entries = program.commands.filter((c) => c.name() !== NAMES_COMMAND).map(toEntry);
  switch (shell) {
    case "bash":
      return bash(program, entries);
    case "zsh":
      return zsh(program, entries);
    case "fish":
      return fish(program, entries);
  }
}

function toEntry(command: Command): Entry {
  const [first] = command.registeredArguments;
  return {
    name: command.name(),
    summary: command.summary() || command.description(),
    options: [command, ...command.commands].flatMap(shown).filter(isFirst),
    takesId: first?.name() === "id",
    words: [...choicesOf(first), ...command.commands.map((inner) => inner.name())],
  };
}

function shown(command: Command): Option[] {
  return command.options.filter((o) => !o.hidden || ["--json", "--home", "--url", "--no-spawn"].includes(o.long ?? ""));
}

/** A command and those below it share the global options. */
function isFirst(option: Option, i: number, all: readonly Option[]): boolean {
  return all.findIndex((o) => o.flags === option.flags) === i;
}

function choicesOf(of: Argument | Option | undefined): readonly string[] {
  return of?.argChoices ?? [];
}

function flags(options: readonly Option[]): string[] {
  return options.flatMap((o) => [o.short, o.long]).filter((f): f is string => f !== undefined && f !== null);
}

function bash(program: Command, entries: readonly Entry[]): string {
  const values = [
    ...new Map([...shown(program), ...entries.flatMap((e) => e.options)].map((o) => [o.flags, o])).values(),
  ];
  const arms = entries.map((e) => {
    const names = e.takesId ? ` $(drover ${NAMES_COMMAND} 2>/dev/null)` : "";
    return `    ${e.name}) words="${[...flags(e.options), ...e.words].join(" ")}"; [[ $cur == -* ]] || words="${e.words.join(" ")}${names}" ;;`;
  });
  return `# drover completion for bash: source <(drover completion bash)
_drover() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= words= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      --home|--url) ((i++)) ;;
      --) return 0 ;;
      -*) ;;
      *) command=\${COMP_WORDS[i]}; break ;;
    esac
  done
  case $prev in
${values
  .filter((o) => o.argChoices)
  .map(
    (o) => `    ${flags([o]).join("|")}) COMPREPLY=($(compgen -W "${choicesOf(o).join(" ")}" -- "$cur")); return 0 ;;`,
  )
  .join("\n")}
    --home|--workdir|-w) COMPREPLY=($(compgen -d -- "$cur")); return 0 ;;
  esac
  case $command in
    "") words="${[...entries.map((e) => e.name), ...flags(shown(program))].join(" ")}" ;;
${arms.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _drover drover
`;
}

function zsh(program: Command, entries: readonly Entry[]): string {
  const quote = (text: string) => text.replaceAll("'", "'\\''");
  const escape = (text: string) => quote(text).replaceAll("[", "\\[").replaceAll("]", "\\]").replaceAll(":", "\\:");
  const option = (o: Option) => {
    const value =
      o.required || o.optional
        ? `:${o.attributeName()}:${o.argChoices ? `(${o.argChoices.join(" ")})` : /dir/.test(o.flags) ? "_files -/" : ""}`
        : "";
    return flags([o]).map((flag) => `'${flag}[${escape(o.description)}]${value}'`);
  };
  const arms = entries.map((e) => {
    const rest = e.takesId
      ? ["'*:process:_drover_names'"]
      : e.words.length > 0
        ? [`'1:word:(${e.words.join(" ")})'`]
        : ["'*::command:_normal'"];
    return `    ${e.name}) _arguments ${[...e.options.flatMap(option), ...rest].join(" ")} ;;`;
  });
  return `#compdef drover
# drover completion for zsh: drover completion zsh > "\${fpath[1]}/_drover"
_drover_names() {
  local -a names
  names=(\${(f)"$(drover ${NAMES_COMMAND} 2>/dev/null)"})
  compadd -a names
}
_drover() {
  local -a commands
  local state line
  commands=(
${entries.map((e) => `    '${quote(e.name)}:${quote(e.summary)}'`).join("\n")}
  )
  _arguments -C ${shown(program).flatMap(option).join(" ")} '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument) case $line[1] in
${arms.join("\n")}
    esac ;;
  esac
}
if [ "$funcstack[1]" = "_drover" ]; then _drover "$@"; else compdef _drover drover; fi
`;
}

function fish(program: Command, entries: readonly Entry[]): string {
  const quote = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const option = (when: string, o: Option) =>
    [
      `complete -c drover -n ${quote(when)}`,
      ...(o.short ? [`-s ${o.short.slice(1)}`] : []),
      ...(o.long ? [`-l ${o.long.slice(2)}`] : []),
      ...(o.required ? ["-r"] : []),
      ...(o.argChoices ? [`-f -a ${quote(o.argChoices.join(" "))}`] : []),
      `-d ${quote(o.description)}`,
    ].join(" ");
  const lines = entries.flatMap((e) => {
    const when = `__fish_seen_subcommand_from ${e.name}`;
    const argument = e.takesId ? `(drover ${NAMES_COMMAND} 2>/dev/null)` : e.words.join(" ");
    return [
      `complete -c drover -n __fish_use_subcommand -f -a ${e.name} -d ${quote(e.summary)}`,
      ...(argument ? [`complete -c drover -n ${quote(when)} -f -a ${quote(argument)}`] : []),
      ...e.options.map((o) => option(when, o)),
    ];
  });
  return `# drover completion for fish: drover completion fish > ~/.config/fish/completions/drover.fish
${[...shown(program).map((o) => option("__fish_use_subcommand", o)), ...lines].join("\n")}
`;
}
