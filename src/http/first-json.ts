/** The first JSON value of a text; what follows it is not looked at, as in Go's decoder. Throws SyntaxError. */
export function parseFirstJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const end = endOfFirstValue(text);
    if (end === undefined || end === text.length) throw error;
    return JSON.parse(text.slice(0, end));
  }
}

const word = /(?:-?\d[\d.eE+-]*|true|false|null)/y;

function endOfFirstValue(text: string): number | undefined {
  const start = text.search(/[^ \t\r\n]/);
  if (start === -1) return undefined;
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  if (first === "{" || first === "[") return endOfNested(text, start);
  word.lastIndex = start;
  return word.test(text) ? word.lastIndex : undefined;
}

function endOfNested(text: string, start: number): number | undefined {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    const char = text[i];
    if (char === '"') {
      const end = endOfString(text, i);
      if (end === undefined) return undefined;
      i = end - 1;
    } else if (char === "{" || char === "[") depth++;
    else if ((char === "}" || char === "]") && --depth === 0) return i + 1;
  }
  return undefined;
}

function endOfString(text: string, start: number): number | undefined {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === '"') return i + 1;
  }
  return undefined;
}
