package io.nereid.spring;

import io.nereid.types.NereidException;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Answers requests whose {@link NereidException} no controller handles with a problem detail: a
 * client that sends a wrong tensor gets 400 and the reason, and not 500.
 */
@AutoConfiguration
@ConditionalOnClass({RestControllerAdvice.class, ProblemDetail.class})
@ConditionalOnWebApplication
@ConditionalOnProperty(name = "nereid.problem-details", matchIfMissing = true)
final class NereidWebAutoConfiguration {

  @Bean
  Problems nereidProblems() {
    return new Problems();
  }

  /** The handler of exceptions, after the application's own. Called by the threads of requests. */
  @RestControllerAdvice
  @Order(Ordered.LOWEST_PRECEDENCE)
  static class Problems {

    @ExceptionHandler
    ProblemDetail answer(NereidException failure) {
      HttpStatus status =
          switch (failure.code()) {
            case INVALID_ARGUMENT, OUT_OF_RANGE, FAILED_PRECONDITION, ALREADY_EXISTS ->
                HttpStatus.BAD_REQUEST;
            case NOT_FOUND -> HttpStatus.NOT_FOUND;
            case UNAUTHENTICATED -> HttpStatus.UNAUTHORIZED;
            case PERMISSION_DENIED -> HttpStatus.FORBIDDEN;
            case UNAVAILABLE, RESOURCE_EXHAUSTED, CANCELLED -> HttpStatus.SERVICE_UNAVAILABLE;
            case DEADLINE_EXCEEDED -> HttpStatus.GATEWAY_TIMEOUT;
            case UNIMPLEMENTED -> HttpStatus.NOT_IMPLEMENTED;
            case OK, UNKNOWN, INTERNAL, ABORTED, DATA_LOSS -> throw failure;
          };
      return ProblemDetail.forStatusAndDetail(status, failure.getMessage());
    }
  }
}
