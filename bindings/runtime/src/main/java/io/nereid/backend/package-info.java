/** For backends written in Java: {@link io.nereid.backend.Backend} is where to start. */
package io.nereid.backend;
