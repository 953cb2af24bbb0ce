// The room's socket in a browser: hello, sync, and coming back after what is not final (CONN-2, CONN-8, CONN-10).

const FINAL = new Set([4400, 4401, 4403, 4409]);

/** Opens it; `hello` is asked at each connecting, so that it can say where to go on. */
export function openSocket({ hello, onFrame, onState }) {
  let socket;
  let attempt = 0;
  let closed = false;
  let ping;

  function connect() {
    socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/v1/connect`, ["bullpen.v1"]);
    const current = socket;
    const say = (frame) => current.send(JSON.stringify({ v: 1, ...frame }));
    current.onopen = () => say({ type: "hello", ...hello() });
    current.onmessage = ({ data }) => {
      if (data === "pong") return;
      const frame = JSON.parse(data);
      if (frame.type === "sync") say({ type: "synced", n: frame.n });
      if (frame.type === "welcome") {
        attempt = 0;
        ping = setInterval(() => current.send("ping"), frame.ping_s * 1000);
        onState("open");
      }
      onFrame(frame);
    };
    current.onclose = async ({ code }) => {
      clearInterval(ping);
      if (closed) return;
      if (FINAL.has(code) || (await isSignedOut())) return onState("ended");
      onState("lost");
      // Full jitter: a server that comes back is not met by everybody at once.
      setTimeout(connect, Math.random() * Math.min(30_000, 500 * 2 ** attempt++));
    };
  }

  connect();
  return {
    send(frame) {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ v: 1, ...frame }));
    },
    close() {
      closed = true;
      socket.close(1000);
    },
  };
}

/** A refused upgrade does not say why; this does (AUTH-8). */
async function isSignedOut() {
  const answer = await fetch("/v1/me").catch(() => undefined);
  return answer?.status === 401 || answer?.status === 403;
}
