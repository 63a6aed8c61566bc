package com.google.errorprone.annotations.concurrent;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The lock that is held by whoever uses the field or calls the method. Error Prone knows the
 * annotation by this name. Its own one stays in classes, and javac warns whoever compiles against a
 * class whose annotation is not there: this one stays in the source.
 */
@Retention(RetentionPolicy.SOURCE)
@Target({ElementType.FIELD, ElementType.METHOD})
public @interface GuardedBy {
  String value();
}
