/**
 * Nereid in an application of Spring Boot. With the starter as a dependency and a line of
 * configuration, such as {@code nereid.models.digits=classpath:digits.onnx}, models are beans:
 *
 * <pre>{@code
 * @RestController
 * class Digits {
 *   private final Model model;
 *
 *   Digits(@Qualifier("digits") Model model) {
 *     this.model = model;
 *   }
 * }
 * }</pre>
 */
package io.nereid.spring;
