package io.nereid.server.http;

import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.Batch;
import io.nereid.model.ModelContext;
import java.util.Map;
import java.util.TreeMap;

/** Copies IN to OUT and keeps the parameters of the last request. */
final class ParameterBackend implements Backend {

  volatile Map<String, Object> seen = Map.of();

  @Override
  public BackendInstance open(ModelContext context) {
    return this::execute;
  }

  private void execute(Batch batch) {
    seen = new TreeMap<>(batch.request(0).parameters());
    batch.output("OUT", batch.input("IN"));
  }
}
