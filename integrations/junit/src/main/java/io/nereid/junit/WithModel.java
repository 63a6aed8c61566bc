package io.nereid.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Opens models for a test class, or for one test, and closes them afterwards. Parameters of type
 * {@link io.nereid.Nereid} and {@link io.nereid.Model} get them; {@link ModelName} chooses one of
 * several models.
 *
 * <p>A test that leaves a request or a response open fails, with the place where it was made. Tests
 * that run at the same time share their models, so leaks are only detected at the end of the class.
 */
@Documented
@Inherited
@ExtendWith(ModelExtension.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface WithModel {

  /** The prefix of resources on the class path. */
  String CLASS_PATH = "classpath:";

  /**
   * The places of the models: each is a model repository or a file {@code NAME.onnx}, by its path,
   * or {@code classpath:} and a resource, such as {@code classpath:models/digits.onnx}. Without a
   * place, the runtime has no models, and the test loads its own.
   */
  String[] value() default {};

  /** The models to load from repositories, with those that they need; by default all. */
  String[] models() default {};
}
