package io.nereid.model;

import io.nereid.internal.Checks;
import java.util.List;

/**
 * The findings about a model of a repository, made without loading it.
 *
 * @param name its name
 * @param verdict whether the model will run here
 * @param backend the backend that its configuration means; empty: that is not known
 * @param findings the remarks about it
 */
public record CheckedModel(String name, Verdict verdict, String backend, List<Finding> findings) {

  /** The forecast for a model on this machine, from the best to the worst. */
  public enum Verdict {
    /** A backend of Nereid's own runs the model. */
    RUNS,
    /** An installed plug-in of Triton's runs the model. */
    RUNS_WITH_PLUGIN,
    /** The model needs a plug-in of Triton's that is missing. */
    NEEDS_PLUGIN,
    /** The model cannot be loaded as it is. */
    REFUSED
  }

  /** The subject of a finding. */
  public enum Kind {
    /** A plug-in that the model has or needs. */
    PLUGIN,
    /** A setting that is ignored. */
    IGNORED,
    /** The reason why the model is refused. */
    REFUSED,
    /** A fact that is good to know. */
    NOTE
  }

  /**
   * One remark about a model.
   *
   * @param place file, line and column, such as {@code m/config.pbtxt:3:1}; empty: it has none
   */
  public record Finding(Kind kind, String place, String text) {

    /** Checks that there is something. */
    public Finding {
      Checks.notNull(kind, "kind");
      Checks.notNull(place, "place");
      Checks.notNull(text, "text");
    }
  }

  /** Copies the list. */
  public CheckedModel {
    Checks.notNull(name, "name");
    Checks.notNull(verdict, "verdict");
    Checks.notNull(backend, "backend");
    findings = List.copyOf(Checks.notNull(findings, "findings"));
  }
}
