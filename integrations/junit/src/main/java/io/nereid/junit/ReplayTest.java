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
 * differ from those of other models, or from the recorded ones. The method runs if they do not, and
 * may be empty. Paths are relative to the process's directory.
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
   * The models with the right answers, likewise; by default the recorded outputs, of requests that
   * have them.
   */
  String against() default "";

  /** A file of tolerances, in the form of {@code nereid bench compare --tolerances}. */
  String tolerances() default "";
}
