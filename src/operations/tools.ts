import { Fault, type ToolArguments, type ToolDefinition, type ToolName, type ToolResult } from "../contract/index.ts";
import { toolSets, tools, toToolSchema } from "../contract/schemas.ts";
import { checkArguments, sayCall, unknownTool } from "../tools/index.ts";
import { refuseReadOnly } from "./access.ts";
import type { Rooms } from "./create.ts";
import type { Operations } from "./table.ts";
import type { ToolContext } from "./tool-context.ts";
import * as control from "./tool-control.ts";
import * as files from "./tool-files.ts";
import { execute } from "./tool-run.ts";
import { processOutput, processWait } from "./tool-wait.ts";

type Runners = { [N in ToolName]: (context: ToolContext, given: ToolArguments<N>) => Promise<ToolResult<N>> };

/** The model tools: one definition, whoever calls. */
export function toolOperations(rooms: Rooms, own: control.Control): Pick<Operations, "tool.list" | "tool.call"> {
  const runners: Runners = {
    execute,
    process_output: processOutput,
    process_wait: processWait,
    process_input: (context, given) => control.processInput(context, own, given),
    process_list: control.processList,
    process_signal: (context, given) => control.processSignal(context, own, given),
    process_stop: (context, given) => control.processStop(context, own, given),
    process_search: (context, given) => control.processSearch(context, own, given),
    read_file: files.readFile,
    write_file: files.writeFile,
    edit_file: files.editFile,
    list_directory: files.listFiles,
  };
  return {
    "tool.list": ({ set }) => ({
      tools: toolSets[set ?? "drover"].map(({ name, title, description, input, output, annotations }) => ({
        name,
        title,
        description,
        input_schema: toToolSchema(input),
        output_schema: toToolSchema(output),
        annotations,
      })),
    }),

    async "tool.call"({ name, set: setName = "drover", workdir, arguments: given }, caller) {
      const set = toolSets[setName];
      const alias = set.find((tool) => tool.name === name);
      if (!alias)
        throw unknownTool(
          name,
          setName,
          set.map((tool) => tool.name),
        );
      const checked = checkArguments(alias, given);
      const call = alias.toCall(checked);
      if (!definitionOf(call.tool).annotations.readOnlyHint) refuseReadOnly(caller);
      const context: ToolContext = {
        rooms,
        caller,
        tool: call.tool,
        workdir,
        say: (said) => sayCall(set, said),
        offers: (tool) => set.some((offered) => offered.fromCall({ tool, arguments: {} }) !== undefined),
      };
      const run = runners[call.tool] as (context: ToolContext, given: object) => Promise<Record<string, unknown>>;
      return run(context, checkArguments(definitionOf(call.tool), call.arguments)).catch(toFailure);
    },
  };
}

function definitionOf(name: ToolName): ToolDefinition {
  const found = tools.find((tool) => tool.name === name);
  if (!found) throw new Error(`no definition of ${name}`);
  return found;
}

/** What the model can repair is a result; what its caller did wrong stays a fault. */
function toFailure(error: unknown): { success: false; error: string } {
  if (!(error instanceof Fault) || !/^(process|regex|search|file|store)\//.test(error.code)) throw error;
  const { message, detail } = error;
  return { success: false, error: detail && !message.includes(detail) ? `${message} ${detail}` : message };
}
