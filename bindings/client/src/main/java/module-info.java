/** A client for servers of the Open Inference Protocol, over HTTP and gRPC; all of it is Java. */
module io.nereid.client {
  requires static io.nereid.locks;
  requires transitive io.nereid.types;
  requires java.net.http;
  requires io.grpc;
  requires io.grpc.netty.shaded;
  requires io.nereid.proto;
  requires tools.jackson.core;

  exports io.nereid.client;
}
