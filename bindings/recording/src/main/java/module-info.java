/**
 * Records the requests that a runtime answers, and reads such recordings. A recording is read
 * without the runtime.
 */
module io.nereid.recording {
  requires static io.nereid.locks;
  requires transitive io.nereid.types;
  requires static transitive io.nereid.runtime;

  exports io.nereid.recording;
  exports io.nereid.recording.compare;
  exports io.nereid.recording.replay;
}
