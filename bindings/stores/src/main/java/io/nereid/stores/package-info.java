/**
 * Object stores as model repositories, and signed and sealed models: the implementation of {@link
 * io.nereid.model.ModelStore}.
 */
package io.nereid.stores;
