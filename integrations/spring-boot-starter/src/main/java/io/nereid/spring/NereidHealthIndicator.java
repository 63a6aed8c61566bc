package io.nereid.spring;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelState;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Up when no model has failed; the details have each model's state and the reasons. */
final class NereidHealthIndicator extends AbstractHealthIndicator {

  private final Nereid nereid;

  NereidHealthIndicator(Nereid nereid) {
    super("the models cannot be asked");
    this.nereid = nereid;
  }

  @Override
  protected void doHealthCheck(Health.Builder health) {
    Map<String, String> models = new LinkedHashMap<>();
    boolean well = true;
    for (Model model : nereid.models()) {
      boolean failed = model.state() == ModelState.FAILED;
      well &= !failed && (model.state() != ModelState.READY || model.isReady());
      String reason = model.failure().filter(text -> failed).map(text -> ": " + text).orElse("");
      models.put(model.name() + " " + model.version(), model.state() + reason);
    }
    health.status(well ? "UP" : "DOWN").withDetail("models", models);
  }
}
