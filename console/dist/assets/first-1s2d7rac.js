//# allFunctionsCalledOnLoad
import{F,Bt,Zt}from"/console/assets/first-p01nepfw.js";var r=1e6;function xn(o,u,f){let{input_mtok:t,output_mtok:e}=o??{};if(typeof t!=="number")return;let n=Zt(F(t),u,r);if(typeof e!=="number")return n;return Bt(n,Zt(F(e),f,r))}
export{xn};
