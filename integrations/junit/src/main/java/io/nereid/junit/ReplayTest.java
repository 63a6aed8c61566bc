package io.nereid.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test that sends the requests of a recording to models, and fails with a report when answers
 * differ from those of other models, or from those that were recorded. The method runs when they do
 * not, and may be empty. Paths are those of the process.
 */
@Documented
@Test
@ExtendWith(ReplayExtension.class)
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface ReplayTest {

  /** The directory of the recording. */
  String recording();

  /** The models that answer: a repository, or a file {@code NAME.onnx}. */
  String models();

  /**
   * The models whose answers are the right ones, likewise; by default the outputs that were
   * recorded, of requests that have them.
   */
  String against() default "";

  /** A file of tolerances, as {@code nereid bench compare --tolerances} takes it. */
  String tolerances() default "";
}
