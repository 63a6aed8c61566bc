package io.nereid.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Opens models for a test class, or for one test, and closes them behind it. Parameters of type
 * {@link io.nereid.Nereid} and {@link io.nereid.Model} get them; with several models {@link
 * ModelName} says which.
 *
 * <p>A test that leaves a request or a response open fails, with the place where it was made. Tests
 * that run at the same time share their models, so there only the end of the class tells.
 */
@Documented
@Inherited
@ExtendWith(ModelExtension.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface WithModel {

  /** In front of what lies on the class path. */
  String CLASS_PATH = "classpath:";

  /**
   * The places of the models: each is a model repository or a file {@code NAME.onnx}, by its path,
   * or {@code classpath:} and a resource, such as {@code classpath:models/digits.onnx}. Without a
   * place, the runtime has no models, and the test loads its own.
   */
  String[] value() default {};

  /** Repositories load only these models, and those that they need; all unless there is one. */
  String[] models() default {};
}
