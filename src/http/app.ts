import { type Context, Hono } from "hono";
import type { Log } from "../base/index.ts";
import { Fault, type OperationName, type Route, routes } from "../contract/index.ts";
import { checkAccess } from "../operations/index.ts";
import { type Access, logAccess } from "./access-log.ts";
import { answerFault, answerJson, answerWith, type ReplyHeaders, toFault } from "./answer.ts";
import { type Arrival, type Knock, openExchange, openKnock, replyHeaders } from "./exchange.ts";
import { createHandler } from "./handlers.ts";
import { serveMcp } from "./mcp.ts";
import { allowedMethods, answerPreflight, isPreflight } from "./other-methods.ts";
import type { AppRooms, Handler, Turn } from "./turn.ts";

type App = Hono<{ Bindings: Arrival }>;
type AppContext = Context<{ Bindings: Arrival }>;

/** One handler per route of the contract's table and nothing between. */
export function createApp(rooms: AppRooms): App {
  const app: App = new Hono();
  for (const name of Object.keys(routes) as OperationName[]) {
    const route: Route = routes[name];
    const serve = createServer(
      rooms,
      { operation: name, open: route.open === true, route },
      createHandler(name, rooms),
    );
    app.on(route.method, route.path.replaceAll(/\{(\w+)\}/g, ":$1"), serve);
  }
  const greet: Handler = ({ headers }) => answerJson({ message: `Drover ${rooms.version}` }, headers);
  app.get("/", createServer(rooms, { operation: "greeting", open: false }, greet));
  if (rooms.mcp) app.all("/mcp", createServer(rooms, { operation: "mcp", open: false }, serveMcp(rooms, rooms.mcp)));
  app.notFound(createServer(rooms, { operation: "none", open: false }, refuse));
  return app;
}

interface Serving {
  readonly operation: Access["operation"];
  readonly open: boolean;
  readonly route?: Route;
}

function createServer(rooms: AppRooms, serving: Serving, handler: Handler): (c: AppContext) => Promise<Response> {
  const { log, metrics, gate } = rooms;
  return async (c) => {
    const knock = openKnock(c.req.raw, c.env);
    const { request, startedAt } = knock;
    let caller: Access["caller"] = knock.asker;
    const parameters = c.req.param();
    const finish = (status: number) => {
      metrics.request(status);
      const processId = parameters["id"];
      logAccess(log, { caller, operation: serving.operation, method: request.method, status, startedAt, processId });
    };
    let headers = replyHeaders(caller, undefined);
    let deferred = false;
    const defer = () => {
      deferred = true;
      return () => finish(200);
    };
    let response: Response;
    try {
      const visitor = { door: c.env.door, header: knock.header, open: serving.open };
      const foreignOrigin = gate.checkSource(visitor);
      if (foreignOrigin) headers = replyHeaders(caller, foreignOrigin);
      if (foreignOrigin && isPreflight(knock)) return answerPreflight(headers);
      const exchange = openExchange(knock, gate.checkToken(visitor));
      caller = exchange.caller;
      if (serving.route) checkAccess(serving.route, exchange.caller);
      response = await handler({ exchange, parameters, headers, defer });
    } catch (error) {
      deferred = false;
      response = answerError(error, { log, knock, headers });
    }
    if (!deferred) finish(response.status);
    return response;
  };
}

function answerError(error: unknown, o: { log: Log; knock: Knock; headers: ReplyHeaders }): Response {
  const { asker } = o.knock;
  // Nobody reads this answer; an operation that was cut short is not a defect.
  if (asker.signal.aborted && !(error instanceof Fault)) return answerWith(null, "text/plain", o.headers, 499);
  return answerFault(toFault(error, o.log, asker.requestId), o.headers);
}

/** No route has this path with this method. */
function refuse({ exchange }: Turn): never {
  const path = new URL(exchange.request.url).pathname;
  const allow = allowedMethods(path);
  if (allow.length === 0)
    throw new Fault("route/not-found", `No route has the path ${path}. See /api/v0/openapi.json.`);
  throw new Fault("route/wrong-method", `${path} answers to ${allow.join(" and ")} only.`, { data: { allow } });
}
