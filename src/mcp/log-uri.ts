/** A place in a process's log: `drover://process/ID/log?from=N`. */
export interface LogUri {
  readonly id: string;
  readonly from: number | undefined;
}

/** As `resources/templates/list` shows it. */
export const LOG_URI_TEMPLATE = "drover://process/{id}/log{?from}";

export function formatLogUri(id: string, from?: number): string {
  return `drover://process/${encodeURIComponent(id)}/log${from === undefined ? "" : `?from=${from}`}`;
}

/** Undefined when it is none. */
export function parseLogUri(uri: string): LogUri | undefined {
  const found = /^drover:\/\/process\/([\w.-]{1,200})\/log(?:\?from=(\d{1,15}))?$/.exec(uri);
  const [, id, from] = found ?? [];
  return id === undefined ? undefined : { id, from: from === undefined ? undefined : Number(from) };
}
