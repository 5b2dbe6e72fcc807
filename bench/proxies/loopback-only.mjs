// Preloaded into peers that offer no option for the address to listen on: no benchmark opens a port to the network.
import { Server } from "node:net";

const listen = Server.prototype.listen;

Server.prototype.listen = function listenOnLoopback(port, ...rest) {
  if (typeof port === "number" && typeof rest[0] !== "string") {
    const others = rest[0] === undefined ? rest.slice(1) : rest;
    return listen.call(this, port, "127.0.0.1", ...others);
  }
  return listen.call(this, port, ...rest);
};
