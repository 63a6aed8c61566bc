/** Protobuf messages of the Open Inference Protocol and of Triton's model configuration. */
module io.nereid.proto {
  requires transitive com.google.protobuf;

  exports io.nereid.proto;
  exports io.nereid.proto.health;
  exports io.nereid.proto.otlp;
}
