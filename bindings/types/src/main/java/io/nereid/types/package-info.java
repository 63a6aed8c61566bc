/**
 * The words that the runtime, the client and the load generator share: data types, shapes, the
 * layout of byte strings, codes of failures. Nothing here has state, and nothing needs another
 * package.
 *
 * {@snippet class="io.nereid.types.TypesGuideTest" region="types"}
 */
package io.nereid.types;
