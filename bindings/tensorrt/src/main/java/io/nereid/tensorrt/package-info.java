/** The backend {@code tensorrt}, and the libraries under it. */
package io.nereid.tensorrt;
