/** What every command of a tool gets: nothing may open an editor or a pager, or ask where nobody answers. */
const nonInteractive = {
  CODER_CHAT_AGENT: "true",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  EDITOR: "true",
  VISUAL: "true",
  GIT_TERMINAL_PROMPT: "0",
  NO_COLOR: "1",
  TERM: "dumb",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  AWS_PAGER: "",
  CI: "true",
  DEBIAN_FRONTEND: "noninteractive",
  PIP_NO_INPUT: "1",
  npm_config_yes: "true",
  npm_config_fund: "false",
  npm_config_update_notifier: "false",
  HOMEBREW_NO_AUTO_UPDATE: "1",
  PYTHONUNBUFFERED: "1",
} as const;

/** The environment of a tool's command; a chat names its browser session too. */
export function toolEnvironment(chatId: string | undefined): Record<string, string> {
  return chatId === undefined ? { ...nonInteractive } : { ...nonInteractive, AGENT_BROWSER_SESSION: chatId };
}
