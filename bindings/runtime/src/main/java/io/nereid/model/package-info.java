/**
 * What users say of a model and are told about it: {@link io.nereid.model.ModelSpec} describes one
 * to be loaded, {@link io.nereid.model.ModelConfiguration} is what it is served with, {@link
 * io.nereid.model.ModelEvent} tells of its life. All are values: they never change, and any thread
 * may read them.
 */
package io.nereid.model;
